export function bundlePage(outFolder: string): Promise<{ inputs: string[]; bytes: number }>;
