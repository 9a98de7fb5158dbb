/** Debian's Chromium, as people's browsers are; started once a file, and only where it is installed. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { inEveryFile } from './hooks.ts';
import { tool } from './tool.ts';

let browser: Promise<Browser> | undefined;

inEveryFile(() =>
  afterAll(async () => {
    await (await browser)?.close();
    browser = undefined;
  }),
);

/** A page of a browser context of its own. `faults` gets script errors, and what the content security policy refused. */
export async function openPage(
  options: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[]; close(): Promise<void> }> {
  browser ??= chromium.launch({
    executablePath: tool('chromium'),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const context = await (await browser).newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).hostname !== '127.0.0.1') faults.push(`asked ${request.url()}`);
  });
  return { page, faults, close: () => context.close() };
}
