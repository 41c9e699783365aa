/** Constants shared by the driver `addon` and its child. */

/** The optional peer packages that the child wraps. */
export const PACKAGES = { capture: 'alsa-capture', playback: 'speaker' } as const;

/** The child prints this line on standard error when its device accepts sound. */
export const READY_LINE = 'addon ready';

/** Known working versions of these packages. */
export const VERSIONS: Readonly<Record<string, string>> = { 'alsa-capture': '0.3', speaker: '0.5' };
