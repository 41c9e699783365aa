/** The system's name of an error, such as ENOENT; null: it has none. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Why the system does not let this be done, by its name; null: it is done. @throws what has no such name */
export function systemRefusal(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return code;
  }
}
