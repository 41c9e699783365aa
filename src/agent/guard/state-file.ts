import type { StateFile } from '../../ports/state-file.ts';
import { attempt, type Defects, defectOf } from './defects.ts';

/** A file that never throws and never rejects: what throws is a file that can't be read, or not be written. */
export function guardStateFile(file: StateFile, defects: Defects): StateFile {
  return {
    name: file.name,
    read() {
      try {
        const reading = file.read();
        if (reading.kind !== 'awaited') return reading;
        const { whenFound } = reading;
        return {
          ...reading,
          whenFound: (callback) =>
            whenFound((found) => void attempt(defects, 'state file.read', () => callback(found))),
        };
      } catch (error) {
        defects('state file.read', error);
        // The log names the file with it.
        return { kind: 'unreadable', why: defectOf(error) };
      }
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
