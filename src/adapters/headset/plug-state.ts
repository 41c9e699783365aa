/** Whether the plug is in, or why that cannot be read (a sentence for people), with the way to fix it. */
export type PlugState = boolean | { readonly problem: string; readonly fix: string };
