/** How the kiosk's page notices that the agent has frozen. The page shares this file. */

/** The agent sends something at least this often (ms). */
export const PING_EACH_MS = 1000;
/** After this silence (ms) a page reports that it has no connection, and reconnects. */
export const SILENT_MS = 4000;
