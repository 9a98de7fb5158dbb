/** The accounts of this machine, as far as /etc/passwd knows them. */
import { readFile } from 'node:fs/promises';

/** One line of /etc/passwd. */
export interface PasswdEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** All accounts in /etc/passwd; none where there is no such file. */
export async function readPasswd(): Promise<PasswdEntry[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/** The name of a user for messages: `nobody`, or `uid 1234`. */
export async function accountName(uid: number): Promise<string> {
  const entry = (await readPasswd()).find((candidate) => candidate.uid === uid);
  return entry?.name ?? `uid ${uid}`;
}
