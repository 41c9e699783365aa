/** What the driver `addon` and its child have agreed on. */

/** The optional peer packages that the child wraps. */
export const PACKAGES = { capture: 'alsa-capture', playback: 'speaker' } as const;

/** The child says on standard error that its device takes sound. */
export const READY_LINE = 'addon ready';
