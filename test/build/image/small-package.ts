import { join } from 'node:path';
import { writePackage } from '../../../scripts/deb/control.ts';
import { EPOCH, ROOT } from './made-image.ts';

/** Makes a package without files. */
export const writeSmallPackage = (file: string, name: string): void =>
  writePackage(
    {
      name,
      version: '1.0.0-1',
      changedAt: EPOCH,
      architecture: 'all',
      depends: null,
      summary: 'small',
      description: [],
      files: [],
    },
    join(ROOT, 'test/none'),
    file,
  );
