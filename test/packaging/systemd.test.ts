/** The systemd units: accepted by systemd itself, as closed as it can be, and with the exit codes of the program. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../src/errors.ts';
import { testWith } from '../support/tool.ts';

const FOLDER = new URL('../../deploy/systemd/', import.meta.url);
const UNITS = readdirSync(FOLDER);
const read = (unit: string) => readFileSync(new URL(unit, FOLDER), 'utf8');
/** The values of a setting of a unit, in order. */
const values = (unit: string, name: string) =>
  [...read(unit).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);

/** The units beside each other, with a Node.js that is there. */
function copies(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-units-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const unit of UNITS)
    writeFileSync(join(folder, unit), read(unit).replaceAll('/usr/bin/node', process.execPath));
  return folder;
}

testWith(['systemd-analyze'], 'systemd finds nothing wrong with the units', () => {
  const folder = copies();
  for (const unit of UNITS) {
    const { status, stderr, stdout } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', join(folder, unit)],
      { encoding: 'utf8' },
    );
    expect({ unit, status, said: stdout + stderr }).toEqual({ unit, status: 0, said: '' });
  }
});

testWith(
  ['systemd-analyze'],
  'systemd calls what a service is exposed to OK, on its scale from 0 to 10 less than 2',
  () => {
    const folder = copies();
    for (const unit of UNITS.filter((name) => name.endsWith('.service'))) {
      const report = execFileSync(
        'systemd-analyze',
        ['security', '--offline=yes', '--no-pager', join(folder, unit)],
        { encoding: 'utf8' },
      );
      const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(report)?.[1]);
      expect(exposure, report).toBeLessThan(2);
    }
  },
);

test('the worker comes back whatever ended it, also where its settings were refused: what they name may be renewed', () => {
  const unit = 'daywalk.service';
  expect(values(unit, 'Type')).toEqual(['simple']);
  expect(values(unit, 'Restart')).toEqual(['on-failure']);
  expect(values(unit, 'RestartPreventExitStatus')).toEqual([]);
  expect(values(unit, 'RestartSec')).toEqual(['15min']);
  expect(values(unit, 'SuccessExitStatus')).toEqual([`${EXIT.SIGINT} ${EXIT.SIGTERM}`]);
  expect(values(unit, 'ExecStart')).toEqual(['/usr/bin/node /opt/daywalk/dist/main.js worker']);
});

test('one pass is started by its timer, also after the machine was off', () => {
  expect(values('daywalk-run.service', 'Type')).toEqual(['oneshot']);
  expect(values('daywalk-run.service', 'ExecStart')).toEqual([
    '/usr/bin/node /opt/daywalk/dist/main.js run',
  ]);
  expect(values('daywalk-run.timer', 'Persistent')).toEqual(['yes']);
  expect(values('daywalk-run.timer', 'Unit')).toEqual([]);
});

test('neither service leaves a core file, which would hold the key, nor holds a secret itself', () => {
  for (const unit of UNITS.filter((name) => name.endsWith('.service'))) {
    expect(values(unit, 'LimitCORE')).toEqual(['0']);
    expect(read(unit)).not.toMatch(/API_KEY=|DATABASE_URL=/);
  }
});
