/** The settings file's YAML: what is refused and where, and that nothing but a SettingsError ever comes out. */
import { describe, expect, test } from 'vitest';
import { anyFile } from './any-file.ts';
import { loadYaml, problemsOf } from './loading.ts';

test.each(['', '\n', '# nothing\n', '---\n', '{}', '\uFEFFpage_length: 5'])('%j is fine', (yaml) =>
  expect(loadYaml(yaml).pageLength).toBeGreaterThan(0),
);

describe('refused', () => {
  test.each([
    ['page_length: 1\npage_length: 2', 'daywalk.yaml:2:1: the same key stands here a second time'],
    ['api:\n\turl: x', 'daywalk.yaml:2:1: is not YAML: a tab'],
    ['- a', 'daywalk.yaml:1:1: expected settings, such as page_length: 1000, but found a list'],
    ['just text', 'but found a text'],
    ['a: "x', 'a quote, bracket or colon is missing'],
    ['page_length: 1\n---\nx: 1', 'there can be only one'],
    ['schedule: * * * * *', 'begins with * needs quotes'],
    ['schedule: *x', 'found an alias'],
    ['page_length: !vault 5', 'begins with ! needs quotes'],
    ['page_length: [5]', 'expected one value, but found a list'],
    ['page_length: { a: 5 }', 'expected one value, but found a mapping'],
    ['log: debug', 'expected a mapping of level, format'],
    ['? [a]\n: 1', 'a key must be a plain word'],
    ['__proto__: { pageLength: 1 }', '(__proto__): there is no such setting'],
    ['constructor: 1', '(constructor): there is no such setting'],
    ['api: { __proto__: 1 }', '(api.__proto__): there is no such setting'],
    ['pageLength: 1', 'did you mean page_length?'],
    ['url: https://x', 'did you mean api.url?'],
    ['databse: { embedded: yes }', 'did you mean database?'],
    ['tabels: {}', 'did you mean tables?'],
    ['api.url: https://x', 'write url: in a line below api:'],
    ['api: { keyfile: x }', 'did you mean api.key_file?'],
    ['proxy: { https: "x:1" }', 'set the environment variable HTTPS_PROXY'],
    ['config: x', 'set the environment variable DAYWALK_CONFIG'],
    ['total_path:', 'write none if there is no total'],
    ['id_path: $', '(id_path): "$" is the whole record, which is no field'],
    ['time_path: $', '(time_path): "$" is the whole record, which is no field'],
    [
      'status: { hosts: "http://x" }',
      '(status.hosts): "http://x" has "http://x", which is no host',
    ],
    ['status: { hosts: "a.example, b:8642" }', 'has "b:8642", which is no host'],
    ['status: { hosts: "*.example" }', 'has "*.example", which is no host'],
    ['schedule: 0 3 13 * 5', 'names days of the month and weekdays'],
    ['['.repeat(100_000), 'nested too deep'],
    ['{a: '.repeat(25_000), 'nested too deep'],
    ['- '.repeat(50_000), 'nested too deep'],
    ['? '.repeat(50_000), 'nested too deep'],
    [Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'nested too deep'],
  ])('%j', (yaml, expected) => {
    const problems = problemsOf(() => loadYaml(yaml));
    expect(problems.join('\n')).toContain(expected);
    expect(problems.join('').length).toBeLessThan(2_000);
  });
  test('an alias bomb, quickly', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 30; i++) {
      const [name, last] = [`a${i}`, i === 1 ? 'a' : `a${i - 1}`];
      bomb.push(`${name}: &${name} [${`*${last}, `.repeat(9)}]`);
    }
    const start = process.cpuUsage();
    expect(problemsOf(() => loadYaml(bomb.join('\n')))).toHaveLength(30);
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(2_000);
  });
  test('thousands of problems are counted, not listed', () => {
    const yaml = Array.from({ length: 5_000 }, (_, i) => `k${i}x: 1`).join('\n');
    const problems = problemsOf(() => loadYaml(yaml));
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe('… and 4900 more');
  });
  test('the longest file of nothing but keys, in bounded time', () => {
    const yaml = Array.from({ length: 18_000 }, (_, i) => `${i}:`).join('\n');
    // Of the processor, because other tests run beside this one.
    const before = process.cpuUsage();
    expect(problemsOf(() => loadYaml(yaml))).toHaveLength(101);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(20_000);
    expect(problemsOf(() => loadYaml(yaml + yaml))).toEqual([
      'daywalk.yaml: daywalk.yaml is longer than 128 KiB',
    ]);
  });
  test('a value cannot write to the terminal', () => {
    const [problem = ''] = problemsOf(() => loadYaml('timezone: "\\e[31m\\r\\u2028\\u202Ered"'));
    expect(problem).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  });
});

describe('any file', () => anyFile(100));
