/** For a command line that runs in this process: what it prints and complains, as far as it has come. */
export function gather() {
  const said = { out: '', err: '' };
  return {
    said,
    print(text: string): void {
      said.out += text;
    },
    complain(text: string): void {
      said.err += text;
    },
  };
}
