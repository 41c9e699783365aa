import { createHash } from 'node:crypto';

/** Ids of an image. They depend only on its contents, so that equal builds are identical. */
export interface Identity {
  /** Signature of the partition table, 8 hexadecimal digits. */
  readonly signature: string;
  readonly rootUuid: string;
  readonly dataUuid: string;
}

export function identityOf(madeOf: readonly (string | number)[]): Identity {
  const digits = (name: string) =>
    createHash('sha256')
      .update(JSON.stringify([name, ...madeOf]))
      .digest('hex');
  return {
    signature: digits('table').slice(0, 8).replace(/^0/, '1'),
    rootUuid: uuid(digits('root')),
    dataUuid: uuid(digits('data')),
  };
}

const uuid = (hex: string): string =>
  [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
