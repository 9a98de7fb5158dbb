/** Host names: addresses and agreed names are ours, a stranger's name that leads here is not. */
import { expect, it } from 'vitest';
import { isOurHost } from '../../src/status-page/allowed-hosts.ts';

it.each([
  '127.0.0.1',
  '127.0.0.1:8642',
  '10.1.2.3:80',
  'localhost',
  'LOCALHOST:8642',
  '[::1]:8642',
  '[::ffff:127.0.0.1]',
  'box',
  'Box.:1',
  'status.example:443',
])('%s is ours', (host) => {
  expect(isOurHost(host, ['box', 'Status.example'])).toBe(true);
});

it.each([
  undefined,
  '',
  'evil.example',
  'evil.example:8642',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'box.evil',
  'a@127.0.0.1',
  '127.0.0.1/',
  '[::1',
  '[evil]',
  'localhost:x',
  ' localhost',
  '127.1',
])('%s is not', (host) => {
  expect(isOurHost(host, ['box', 'Status.example'])).toBe(false);
});
