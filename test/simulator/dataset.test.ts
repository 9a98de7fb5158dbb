/** Records from files and from code arrive byte for byte, and none is lost. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { ask, askRaw, target } from './asking.ts';

const LINES = [
  '{"early":"no time yet"}',
  '{ "timestamp" : "2026-03-01T01:00:00.000+0000", "id": 12345678901234567890, "score": 1.10, "big": 1e400 }',
  '{"@timestamp":"2026-03-01T02:00:00Z","a":1,"a":2,"uni":"\\u00e9é\\u0000\\ud800","minus":-0}',
  '{"nothing":"here either"}',
  '{"EventTime":"2026-03-01 03:00:00","Keywords":-9223372036854775808}',
];

let folder: string;
let simulator: Simulator | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-dataset-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => simulator?.close());

const file = async (name: string, content: string | Uint8Array) => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

test.each([
  ['plain', (text: string) => text],
  ['gzipped', (text: string) => gzipSync(text)],
  ['without a last line end', (text: string) => text.trimEnd()],
  [
    'with carriage returns, empty lines and a byte order mark',
    (text: string) => `\ufeff${text.replaceAll('\n', '\r\n\r\n')}`,
  ],
])('a file, %s, is served byte for byte', async (name, content) => {
  const dataset = await file(`${name}.ndjson`, content(`${LINES.join('\n')}\n`));
  simulator = await startSimulator({ dataset, order: 'oldest', envelope: 'array' });
  expect((await ask(simulator)).text).toBe(`[${LINES.join(',')}]`);
  expect(simulator.datasets).toMatchObject([
    { records: 5, days: 1, firstDay: '2026-03-01', lastDay: '2026-03-01', withoutTime: 2 },
  ]);
  const second = { from: '2026-03-01 01:30:00', to: '2026-03-01 02:30:00' };
  expect(simulator.matching(second)).toEqual(LINES.slice(2, 4));
  const alerts = await askRaw(simulator, target({}, 'smart-event'));
  expect(alerts.text).toBe('[]');
});

test('lines longer than a chunk of the file come whole', async () => {
  const long = `{"timestamp":"2026-03-01T01:00:00Z","x":"${'é'.repeat(1_500_000)}"}`;
  const text = [long, LINES[1], long].join('\n');
  const smartDataset = await file('long.ndjson', gzipSync(text));
  simulator = await startSimulator({ smartDataset, envelope: 'array', order: 'oldest' });
  const { text: body } = await askRaw(simulator, target({}, 'smart-event'));
  expect(body === `[${[long, LINES[1], long].join(',')}]`).toBe(true);
});

test('a line that is no JSON object is named, an unreadable file too', async () => {
  const broken = await file('broken.ndjson', `${LINES[0]}\n{"a":\n`);
  await expect(startSimulator({ dataset: broken })).rejects.toThrow(`${broken}:2: not JSON`);
  const scalar = await file('scalar.ndjson', '[1]\n');
  await expect(startSimulator({ dataset: scalar })).rejects.toThrow(':1: not a JSON object');
  const cut = await file('cut.gz', gzipSync(LINES.join('\n')).subarray(0, 60));
  await expect(startSimulator({ dataset: cut })).rejects.toThrow('cannot read');
  await expect(startSimulator({ dataset: join(folder, 'none') })).rejects.toThrow('ENOENT');
  await expect(startSimulator({ dataset: broken, records: [] })).rejects.toThrow('only one');
});

test('given records may be anything, when their time is beside them', async () => {
  const texts = ['{"z":"\\u0000"}', '{"half":', 'NaN'];
  const records = texts.map((text, index) => ({ text, time: Date.UTC(2026, 2, 1, index) }));
  const bytes = { text: new Uint8Array([0x22, 0xff, 0x22]), time: Date.UTC(2026, 2, 1, 20) };
  simulator = await startSimulator({
    records: [...records, bytes],
    order: 'oldest',
    envelope: 'array',
  });
  const { body } = await ask(simulator);
  expect(body).toEqual(
    Buffer.concat([Buffer.from(`[${texts.join(',')},"`), Buffer.from([0xff]), Buffer.from('"]')]),
  );
});
