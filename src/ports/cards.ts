/**
 * Reports that sound cards may have been added, removed or released: a good moment to retry a missing device. It is called once for
 * a whole burst of changes, and also for changes that do not concern the listener.
 * @returns stops the reports
 */
export type WhenCardsChange = (listener: () => void) => () => void;
