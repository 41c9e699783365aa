/** Beginning of the line in which the child of the driver `addon` says that a package cannot be loaded. It needs nothing but Node. */
export const CANNOT_LOAD = 'cannot load the npm package ';
