/** More sound than this never waits: whoever is faster than real time forever must not fill the memory. */
export const CAPACITY_MS = 60_000;
