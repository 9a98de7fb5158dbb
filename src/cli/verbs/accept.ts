/** `daywalk accept`: a person says that a source is right where it contradicts what it showed before. */
import { EXIT } from '../../errors.ts';
import { forgetContract } from '../../store/evidence/contracts.ts';
import { readStreams } from '../../store/streams.ts';
import { acceptSource } from '../../store/windows.ts';
import { print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, withStore } from '../wiring.ts';

/** Accepts the source of the chosen streams as it is now. What is stored stays, and stays shown. */
export async function accept(invocation: Invocation): Promise<number> {
  return withStore(askedOf(invocation), async ({ database, names }) => {
    const known = await readStreams(database, names);
    for (const name of names)
      if (!known.some((stream) => stream.name === name))
        print(`${name}: never exported yet: nothing was to be accepted.`);
    for (const { name, streamId } of known) {
      // First: a worker may take up at once what is due then.
      await forgetContract(database, streamId);
      const something = await acceptSource(database, streamId);
      const [word, failed] = something
        ? ['accepted', 'days that failed are walked again, ']
        : ['accepted, though no day had failed and no record was lost', ''];
      print(
        `${name}: ${word}. From the next run on, ${failed}new days are compared with what is proven from now on, and list and total are looked for anew. Nothing that is stored is taken away.`,
      );
    }
    return EXIT.done;
  });
}
