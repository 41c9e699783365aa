/**
 * Says that sound cards may have come, gone or changed hands: a moment to try a device again that was not there. It
 * comes once for a whole burst of changes, and may come when nothing matters to the listener.
 * @returns ends the telling
 */
export type WhenCardsChange = (listener: () => void) => () => void;
