/** How the kiosk's page notices that the agent has frozen. The page shares this file. */

/** The agent sends something at least this often (ms). */
export const PING_EACH_MS = 1000;
/** A page that hears nothing for longer (ms) says that there is no connection, and connects again. */
export const SILENT_MS = 4000;
