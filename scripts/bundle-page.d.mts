import type { Metafile } from 'esbuild';

export function bundlePage(outFolder: string): Promise<{ inputs: string[]; bytes: number }>;
export function bundleConsole(): Promise<{ metafile: Metafile; files: Record<string, string> }>;
