/**
 * Follows a connection's bytes from packet to packet, and reports a packet that announces more than `mostBytes` as soon as its
 * length is read. The library would collect the whole packet first (up to 256 MB). Reports once at most.
 */
export function watchPacketSize(
  mostBytes: number,
  tooLarge: (bytes: number) => void,
): (chunk: Uint8Array) => void {
  let at: 'type' | 'length' | 'body' | 'stopped' = 'type';
  let length = 0;
  let digits = 0;
  let left = 0;

  const readLength = (byte: number): void => {
    length += (byte & 0x7f) * 128 ** digits;
    digits += 1;
    if (byte >= 0x80) {
      // The length is malformed: the library reports that.
      if (digits === 4) at = 'stopped';
      return;
    }
    at = length > 0 ? 'body' : 'type';
    left = length;
    if (length <= mostBytes) return;
    at = 'stopped';
    tooLarge(length);
  };

  return (chunk) => {
    let index = 0;
    while (index < chunk.length && at !== 'stopped') {
      if (at === 'body') {
        const passed = Math.min(left, chunk.length - index);
        index += passed;
        left -= passed;
        if (left === 0) at = 'type';
        continue;
      }
      if (at === 'type') {
        at = 'length';
        length = 0;
        digits = 0;
      } else {
        readLength(chunk[index] ?? 0);
      }
      index += 1;
    }
  };
}
