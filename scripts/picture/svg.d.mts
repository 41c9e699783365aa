import type { Span } from './terminal.mjs';

export function paintSvg(rows: readonly (readonly Span[])[], columns: number, title: string): string;
