/** IPv4 addresses as numbers: whether a gateway can be reached, and whether an address can be a machine's own. */

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** The size of a network of this length, in addresses. */
const sizeOf = (length: number): number => 2 ** (32 - length);

/**
 * What is wrong with an address of a machine and its gateway; null where nothing is.
 * @param address with the length of its network
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
