/** IPv4 arithmetic: whether a gateway is reachable, and whether an address is valid for a machine. */

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Number of addresses in a network with this prefix length. */
const sizeOf = (length: number): number => 2 ** (32 - length);

/**
 * Checks a machine's address and gateway; null if they are valid.
 * @param address with prefix length
 */
export function addressFault(
  address: string,
  gateway: string | undefined,
): { readonly field: 'address' | 'gateway'; readonly message: string } | null {
  const [own = '', length = ''] = address.split('/');
  const size = sizeOf(Number(length));
  const first = Math.floor(numberOf(own) / size) * size;
  const at = numberOf(own) - first;
  if (at === 0 || at === size - 1)
    return { field: 'address', message: 'is the address of the network itself' };
  if (gateway === undefined) return null;
  const there = numberOf(gateway) - first;
  if (there === at) return { field: 'gateway', message: 'is the address of the device itself' };
  const isInside = there > 0 && there < size - 1;
  return isInside ? null : { field: 'gateway', message: `is not in the network of ${address}` };
}
