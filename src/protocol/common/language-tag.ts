/** Primary subtag: `pt` of `pt-BR`. */
export const primaryOf = (language: string): string => language.toLowerCase().split('-')[0] ?? '';
