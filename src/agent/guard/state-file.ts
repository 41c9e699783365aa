import type { StateFile } from '../../ports/state-file.ts';
import { attempt, type Defects, defectOf } from './defects.ts';

/** A file that never throws and never rejects: what throws is a file that can't be read, or not be written. */
export function guardStateFile(file: StateFile, defects: Defects): StateFile {
  return {
    read() {
      let text: string | null = null;
      attempt(defects, 'state file.read', () => {
        text = file.read();
      });
      return text;
    },
    async write(text) {
      try {
        return await file.write(text);
      } catch (error) {
        defects('state file.write', error);
        return { ok: false, message: defectOf(error) };
      }
    },
  };
}
