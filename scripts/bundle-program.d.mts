import type { BuildOptions } from 'esbuild';

export function bundleProgram(
  source: string,
  options?: Pick<BuildOptions, 'absWorkingDir' | 'banner'>,
): Promise<Uint8Array>;
