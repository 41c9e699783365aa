/** `scripts/build.mjs` inserts it from package.json; undefined when the sources run unbundled. */
declare const DRAGOMAN_VERSION: string | undefined;

/** The version of this program. */
export const VERSION: string = typeof DRAGOMAN_VERSION === 'string' ? DRAGOMAN_VERSION : '0.0.0-source';
