/** What is noted of each piece of speech. */
/** Its translation was cut off, and the device has told so. */
export const CUT = 1;
/** The gate was closed. */
export const GATED = 2;
/** Nobody wanted the lane to hear. */
export const DEAF = 4;
/** Counted as lost with the backlog full. */
export const HOLD_FULL = 8;
/** Too much translated speech waited. */
export const SHED = 16;
/** A stream whose task runs has heard it. */
export const HEARD = 32;
/** The service spoils its sound. */
export const DISTORTED = 64;
/** It did not wake the lane. */
export const ASLEEP = 128;
/** The languages changed meanwhile. */
export const RETASKED = 256;
/** The service has spoken something of it. */
export const RENDERED = 512;
/** There was no loudspeaker for its translation, and the device has counted it. */
export const UNHEARD = 1024;
/** The service has given no more than interim texts of it. */
export const LEFT_OUT = 2048;
/** A stream has it no more in its account, has said nothing of it, and will be told to have swallowed it. */
export const FORGOTTEN = 4096;
