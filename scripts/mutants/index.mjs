import { BUFFER } from './buffer.mjs';
import { COMMANDS } from './commands.mjs';
import { CUTS } from './cuts.mjs';
import { LANE } from './lane.mjs';
import { NAMELESS } from './nameless.mjs';
import { REPLAY } from './replay.mjs';
import { SENTENCES } from './sentences.mjs';
import { SERVICE } from './service.mjs';
import { SESSIONS } from './sessions.mjs';
import { SILENCE } from './silence.mjs';
import { SOUND } from './sound.mjs';
import { TRUST } from './trust.mjs';
import { VOICES } from './voices.mjs';

/**
 * Known ways to break the core, each with the tests that have to notice. `find` occurs exactly once in `file` (under
 * src/core) and is replaced.
 */
export const MUTANTS = [
  ...SOUND,
  ...CUTS,
  ...REPLAY,
  ...NAMELESS,
  ...SENTENCES,
  ...BUFFER,
  ...SESSIONS,
  ...LANE,
  ...SILENCE,
  ...COMMANDS,
  ...TRUST,
  ...SERVICE,
  ...VOICES,
];
