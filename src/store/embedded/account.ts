/** Which account runs Postgres, which refuses to run as root: whoever owns the data, if it works when tried. */
import { chown, lchown, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import { type Folder, OWN_DATABASE_HINT } from './folder.ts';
import { type PasswdEntry, readPasswd } from './passwd.ts';
import { type Account, type Runner, run } from './program.ts';

/** What choosing needs to try an account. */
export interface Trial {
  readonly folder: Folder;
  readonly postgres: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const OURSELVES: Account = { name: 'as this user', prefix: [] };

/**
 * Finds an account that can run Postgres in the folder, and gives it the data there.
 * @throws SettingsError if none can, with what came of trying each.
 */
export async function chooseAccount(trial: Trial): Promise<Account> {
  const candidates =
    process.getuid?.() === 0
      ? rootCandidates(await readPasswd(), await ownerUid(trial.folder))
      : [OURSELVES];
  const refusals: string[] = [];
  for (const account of candidates) {
    const refusal = await tryAccount(account, trial);
    trial.signal.throwIfAborted();
    if (refusal === undefined) {
      await giveTo(account, trial.folder);
      return account;
    }
    refusals.push(`  ${account.name}: ${refusal.replaceAll('\n', ' · ')}`);
  }
  const why = process.getuid?.() === 0 ? ' (it refuses to run as root)' : '';
  throw new SettingsError(
    `the embedded Postgres cannot be run in ${trial.folder.path}${why}. Tried:\n${refusals.join('\n')}`,
    { hint: OWN_DATABASE_HINT },
  );
}

/**
 * The ways for root to run Postgres, the best one first. Data that is there keeps its owner where that works.
 * Accounts are never created: the owner of the data, then `postgres`, then `nobody`; then a user namespace in which
 * root goes by another number, which reaches folders that no other account can enter.
 */
export function rootCandidates(
  passwd: readonly PasswdEntry[],
  owner: number | undefined,
): Account[] {
  const named = (name: string) => passwd.filter((entry) => entry.name === name);
  const known = passwd.find((entry) => entry.uid === owner);
  const owning =
    owner === undefined || owner === 0
      ? []
      : [known ?? { name: `uid ${owner}`, uid: owner, gid: owner }];
  const entries = [...new Set([...owning, ...named('postgres'), ...named('nobody')])];
  const switched = entries.map(({ name, uid, gid }): Account => {
    return { name: `as ${name}`, identity: { uid, gid }, prefix: [], owner: { uid, gid } };
  });
  // initdb wants a name for its uid, so the number must be one that /etc/passwd knows.
  const [mask] = [...named('nobody'), ...passwd.filter((entry) => entry.uid !== 0)];
  const namespace: Account = {
    name: 'in a user namespace',
    prefix: [
      'unshare',
      '--user',
      `--map-user=${mask?.uid ?? 65534}`,
      `--map-group=${mask?.gid ?? 65534}`,
      '--',
    ],
    owner: { uid: 0, gid: 0 },
  };
  return owner === 0 ? [namespace, ...switched] : [...switched, namespace];
}

/** Who owns the data; without data, who owns the folder, unless that is root. */
async function ownerUid(folder: Folder): Promise<number | undefined> {
  const uidOf = (path: string) =>
    stat(path).then(
      (found) => found.uid,
      () => undefined,
    );
  return (await uidOf(folder.data)) ?? ((await uidOf(folder.path)) || undefined);
}

/** Why `account` cannot be used; undefined if it can write in the folder and run Postgres. */
async function tryAccount(account: Account, trial: Trial): Promise<string | undefined> {
  const runner: Runner = { account, environment: trial.environment };
  if (process.platform === 'win32') {
    const outcome = await run(runner, [trial.postgres, '--version'], trial.signal);
    return outcome.ok ? undefined : outcome.output;
  }
  const place = join(trial.folder.path, `trial-${systemClock.uuid()}`);
  await mkdir(place, { mode: 0o700 });
  try {
    if (account.owner) await chown(place, account.owner.uid, account.owner.gid);
    const script = 'cd "$1" && : > file && rm file && exec "$2" --version';
    const outcome = await run(
      runner,
      ['/bin/sh', '-c', script, 'sh', place, trial.postgres],
      trial.signal,
    );
    return outcome.ok ? undefined : outcome.output;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Makes the data and what goes with it belong to the account, where root decides about that. */
async function giveTo({ owner }: Account, folder: Folder): Promise<void> {
  if (!owner) return;
  const give = (path: string) => lchown(path, owner.uid, owner.gid).catch(ignoreMissing);
  for (const path of [folder.password, folder.port, folder.log]) await give(path);
  const current = await stat(folder.data).catch(() => undefined);
  if (!current || current.uid === owner.uid) return;
  for (const entry of await readdir(folder.data, { recursive: true }))
    await give(join(folder.data, entry));
  // The folder itself comes last: half a change of owners is then done again by the next start.
  await give(folder.data);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
