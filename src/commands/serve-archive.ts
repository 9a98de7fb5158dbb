/** `daywalk serve-archive`: the two operations of the API, answered from what is stored. */
import { serveArchive } from '../archive/served-http.ts';
import { ServedArchive } from '../archive/served-page.ts';
import { systemClock } from '../clock.ts';
import type { Settings } from '../config/settings.ts';
import { SettingsError } from '../errors.ts';
import type { FilterName } from '../model.ts';
import { chosen } from './chosen-streams.ts';
import { print } from './output.ts';
import type { Invocation } from './verb.ts';
import { settingsOf } from './wiring.ts';
import { withStore } from './with-store.ts';

/** Serves until it is stopped. */
export async function serveArchiveVerb(invocation: Invocation): Promise<number> {
  const { options, signal } = invocation;
  const settings = settingsOf(invocation);
  const key = settings.archiveKey?.reveal();
  if (key === undefined)
    throw new SettingsError('archive.key is not set: without a key nothing is served', {
      hint: 'Set DAYWALK_ARCHIVE_KEY or DAYWALK_ARCHIVE_KEY_FILE; it is a key of its own, not that of the source.',
    });
  const streams = chosen(settings.streams, options.stream).map((stream) => stream.name);
  return withStore(settings, signal, async (database, log) => {
    const archive = new ServedArchive(database, systemClock, {
      streams,
      fields: fieldsOf(settings),
      timePaths: settings.archiveTime,
      timeZone: settings.timezone,
      allowIncomplete: options.allowIncomplete === true,
    });
    return await serveArchive(
      { archive, clock: systemClock, log },
      {
        host: settings.archiveHost,
        port: settings.archivePort,
        prefix: settings.archivePrefix ?? '',
        key,
        longest: settings.archiveMaxLength,
        concurrency: settings.concurrency,
      },
      signal,
      (url) => print(`serving ${streams.join(', ')} at ${url}`),
    );
  });
}

/** The fields that the settings name, by the parameter that asks for them. */
function fieldsOf(settings: Settings): Partial<Record<FilterName, readonly (readonly string[])[]>> {
  const named = {
    agent: settings.archiveAgent,
    agent_tags: settings.archiveAgentTags,
    manager: settings.archiveManager,
    manager_tags: settings.archiveManagerTags,
    rule_level: settings.archiveRuleLevel,
    rule_mitre_technique: settings.archiveRuleMitreTechnique,
    rule_mitre_tactic: settings.archiveRuleMitreTactic,
    organization: settings.archiveOrganization,
    detection_type: settings.archiveDetectionType,
    hideread: settings.archiveHideread,
  };
  return Object.fromEntries(Object.entries(named).filter(([, paths]) => paths !== undefined));
}
