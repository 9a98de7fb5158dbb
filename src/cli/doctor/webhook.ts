/** What the doctor finds of the webhook, which nobody misses before an alarm that it did not bring. */
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { sendTest } from '../../notify/notifier.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Examination } from './examination.ts';

/**
 * @param isTest a test message is sent, which people read.
 * @throws {SettingsError} where it was not taken.
 */
export async function examineWebhook(
  settings: Settings,
  log: Logger,
  isTest: boolean,
  { ok, skip }: Examination,
): Promise<void> {
  if (!isTest) {
    skip('webhook', 'not tried; `daywalk doctor --test-webhook` sends it a test message');
    return;
  }
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
