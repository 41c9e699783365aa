/** Paths on a square of 24 units. */
export const ICONS = {
  about: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v6M12 7.5v.1',
  back: 'M20 12H5M11 5l-7 7 7 7',
  bell: 'M5 17h14l-2-3v-4a5 5 0 0 0-10 0v4ZM10 20h4M12 5V3',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18',
  keyboard: 'M2 6h20v12H2ZM6 10h.1M10 10h.1M14 10h.1M18 10h.1M8 14h8',
  louder: 'M3 9v6h4l6 5V4L7 9ZM16 9c2 2 2 4 0 6M19 6c4 4 4 8 0 12',
  minus: 'M4 12h16',
  plus: 'M4 12h16M12 4v16',
  repeat: 'M4 12a8 8 0 1 0 3-6.2M4 3v5h5',
  microphone: 'M9 6a3 3 0 0 1 6 0v5a3 3 0 0 1-6 0ZM5 11a7 7 0 0 0 14 0M12 18v3',
  shift: 'M12 3l8 9h-4v8H8v-8H4Z',
  space: 'M4 11v5h16v-5',
  erase: 'M8 5h13v14H8l-6-7ZM12 9l5 6M17 9l-5 6',
  contrast: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 3v18M15 5v14M18 7.5v9',
  letters: 'M2 18 7 5l5 13M4 14h6M22 11v7M22 14.5a3.2 3.5 0 1 0-6.4 0 3.2 3.5 0 0 0 6.4 0',
  end: 'M5 5l14 14M19 5L5 19',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21c0-5 4-7 8-7s8 2 8 7',
  talk: 'M3 4h11v8H8l-3 3v-3H3ZM10 15v2h6l3 3v-3h2V9h-4',
} as const;

export function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
