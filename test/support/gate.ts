/** A gate holds whoever comes until somebody opens it: a moment for which both sides wait, however slow either is. */

/** Closed at first; opened once. */
export interface Gate {
  /** Ends when the gate is open. */
  readonly passed: Promise<void>;
  open(): void;
}

/** Closes a gate. */
export function closeGate(): Gate {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
