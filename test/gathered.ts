/** Collects the output and error messages of a command line that runs in this process. */
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
