/** `daywalk doctor`: checks everything that a run needs; every red line says what to do. */
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { sendTest } from '../../notify/notifier.ts';
import type { Settings } from '../../settings/settings.ts';
import { checkStore } from '../../tier/object-store.ts';
import { examineApi } from '../doctor/api.ts';
import { examineDatabase, REACHED_MS } from '../doctor/database.ts';
import { describeFindings, Examination } from '../doctor/examination.ts';
import { examineCalendar, examineProgram, examineSecrets } from '../doctor/machine.ts';
import { printColoured, printJson } from '../terminal/output.ts';
import { openObjectStore } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import { budgetOf, openApi } from '../walk-wiring.ts';
import { askedOfApi, type Makes, openDatabase, withLog } from '../wiring.ts';

/** A page may take longer, but not as long as a run lets it. */
const ANSWERED_MS = 10_000;

/** Checks one thing after the other; exit code of the first bad one. */
export async function doctor(invocation: Invocation): Promise<number> {
  return (await examine(invocation)).exitCode;
}

/**
 * What {@link doctor} found, printed. Everything is tried once.
 * @param makes what may be made where it is not there.
 */
export async function examine(invocation: Invocation, makes: Makes = 'nothing') {
  const asked = askedOfApi(invocation);
  const { settings, signal } = asked;
  const examination = new Examination();
  await withLog(settings, async (log, later) => {
    examineProgram(settings, examination);
    await examineSecrets(settings, examination);
    const opened = await examination.look('database', () =>
      openDatabase(asked, log, { makes, once: true }),
    );
    if (opened !== undefined) later(opened);
    const now =
      opened &&
      (await examination.look('database', () =>
        examineDatabase({ ...asked, ...opened, examination }),
      ));
    if (settings.tierUrl !== undefined)
      await examination.look('tier', async () => {
        const store = await openObjectStore({ settings, log, later });
        await checkStore(store, signal);
        examination.ok('tier', `${store.name} takes, gives back and removes an object`);
      });
    if (invocation.options.testWebhook === true)
      await examination.look('webhook', () => testWebhook(settings, log, examination));
    else if (settings.webhookUrl !== undefined)
      examination.skip(
        'webhook',
        'not tried; `daywalk doctor --test-webhook` sends it a test message',
      );
    const day = examineCalendar(settings, now ?? systemClock.now(), examination);
    const source = await examination.look('API', () =>
      openApi(
        {
          ...settings,
          retryTime: 0,
          connectTimeout: Math.min(settings.connectTimeout, REACHED_MS),
          pageTimeout: Math.min(settings.pageTimeout, ANSWERED_MS),
        },
        opened && budgetOf(asked, opened.database),
      ),
    );
    if (source === undefined) return;
    later(source);
    const database = opened?.database;
    await examineApi({ source, database, settings, day, signal, examination });
  });
  if (invocation.options.json === true) printJson(examination.findings);
  else printColoured(...describeFindings(examination.findings));
  return examination;
}

/**
 * Sends the webhook a test message, which people read: nobody misses a webhook before an alarm that it did not bring.
 * @throws {SettingsError} where it was not taken.
 */
async function testWebhook(settings: Settings, log: Logger, { ok }: Examination): Promise<void> {
  const why = await sendTest(settings, systemClock, log);
  if (why !== null)
    throw new SettingsError(`a test message was not delivered: ${why}`, {
      hint:
        settings.webhookUrl === undefined
          ? 'Put its URL into DAYWALK_WEBHOOK_URL, or into the file that DAYWALK_WEBHOOK_URL_FILE names.'
          : 'Is DAYWALK_WEBHOOK_URL right, and webhook.format that of the service? No alarm would arrive.',
    });
  ok('webhook', `took a test message (${settings.webhookFormat}); did it arrive?`);
}
