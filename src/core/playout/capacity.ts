/** Most waiting sound (ms): a service that is permanently faster than real time must not fill the memory. */
export const CAPACITY_MS = 60_000;
