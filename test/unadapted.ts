/**
 * Test files that were not seen green with the rebuilt judgement yet, though most of them are adapted: they are left out of the
 * run, and its first line says so. `ALL_TESTS=1 npm test` runs them too. The list may only become shorter.
 */
export const UNADAPTED: readonly string[] = [
  'test/torture/fast.test.ts',
  'test/torture/property.test.ts',
];
