/** The agreement between the driver `addon` and its child. */

/** The optional peer packages that the child wraps. */
export const PACKAGES = { capture: 'alsa-capture', playback: 'speaker' } as const;

/** The child prints this line on standard error when its device accepts sound. */
export const READY_LINE = 'addon ready';

/** Versions that these packages are known to work in. */
export const VERSIONS: Readonly<Record<string, string>> = { 'alsa-capture': '0.3', speaker: '0.5' };

/** A line that begins with this is the whole reason why a package cannot be used, with its fix. */
export const CANNOT_LOAD = 'cannot load the npm package ';
