/** The system's error code, such as ENOENT; null: it has none. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Runs the action. Returns null, or the system's error code. @throws errors without such a code */
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
