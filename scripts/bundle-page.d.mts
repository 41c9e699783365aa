export function bundlePage(outFolder: string): Promise<{ inputs: string[]; bytes: number }>;
export function bundleConsole(): Promise<{ inputs: string[]; files: Record<string, string> }>;
