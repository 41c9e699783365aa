export interface Listed {
  readonly suite: string;
  readonly most: number;
  readonly reason: string;
}
export interface Skipped {
  readonly file: string;
  readonly name: string;
  readonly reason: string | null;
}
export function parseList(text: string): Listed[];
export function excesses(list: readonly Listed[], suite: string, skips: readonly Skipped[]): string[];
