-- Storing: what Postgres reads in an answer while it parses it, and the commit of a page (I1, I2, I3, I5). The frame of an
-- answer is the body without its record list.

-- Functions that are called for every answer are plpgsql, whose plans are kept.

-- Small letters, in which the words of answers are compared: FAILED has to be `failed` also in a database of Turkish, where the small letter
-- of I is another one.
create function daywalk.in_small_letters(said text) returns text
immutable parallel safe return lower(translate(said, 'I', 'i'));

-- Whether a value beside `error` and the like tells of none: null, false, 0 (Wazuh), 0000, 0x0, '', '-', 'ok', 'Success.', '成功', 'no
-- error', ERROR_SUCCESS, or nothing else within it. A sentence of success has no word that could say that there was none, or of what.
create function daywalk.says_nothing(value jsonb) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return not exists (
    select from jsonb_path_query(value, 'strict $.** ? (@.type() != "object" && @.type() != "array")') as leaf
     where coalesce(daywalk.in_small_letters(btrim(translate(leaf #>> '{}', '_:-', '   '), E' \t\n.!')), '') !~ concat(
       '^(|0+(x0+|\.0+)?|false|null|nil|n/a|[^不未没無无]*成功|no|(no *|without )(errors?|faults?|failures?|exceptions?)\M.*',
       '|((err(or)?|[es]|status|rc) +)?(ok|success|none)',
       '|(kein|aucune|sans|sin|ning[uú]n|sem|nenhum|nessun|geen|inget) (fehler|erreur|error|erro|errore|fout|fel)(e?s)?',
       '|((the|this|your|all|operation|request|query|search|command|call|action|job|task|was|were|is|has|have|been|complete|completed|processed|executed|finished|performed|with) +)*',
         '(ok|success|successful|successfully|succeeded)( +(completed|processed|executed|finished|performed))?)$'));
end $$;

-- Whether what is counted or listed of the parts of a source tells that one is away: fewer answered than were asked. One that is called
-- unreachable or the like is heard by itself among shards; nodes and sources may be what is watched, and were asked only where it says
-- so. What was skipped was not asked, but in Elasticsearch: it counts a shard that nobody answers for, and a cluster that it skips,
-- neither as successful nor as failed; its skipped shards hold nothing that was asked for, and are successful.
create function daywalk.lacks_parts(name text, parts jsonb) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  key text;
  plain text;
  amount numeric;
  total numeric;
  asked numeric;
  answered numeric;
  skipped numeric := 0;
  away boolean := false;
begin
  for key in select jsonb_object_keys(parts) loop
    amount := case jsonb_typeof(parts -> key) when 'number' then (parts -> key)::numeric when 'array' then jsonb_array_length(parts -> key) end;
    continue when amount is null;
    plain := translate(daywalk.in_small_letters(key), '_- ', '');
    if plain = 'total' then total := amount;
    elsif plain in ('successful', 'succeeded', 'answered', 'responded', 'replied') then answered := amount;
    elsif plain in ('queried', 'asked', 'requested', 'contacted') then asked := amount;
    elsif amount > 0 and plain in ('failed', 'failures', 'missing', 'timedout', 'unavailable', 'unreachable', 'unresponsive', 'unanswered', 'notresponding') then away := true;
    elsif plain in ('skipped', 'pruned', 'excluded', 'filtered', 'disabled') and name not in ('shards', 'clusters') then skipped := skipped + amount;
    end if;
  end loop;
  return coalesce(answered + skipped < coalesce(asked, total), false)
      or away and (coalesce(asked, answered) is not null or name in ('shards', 'partitions', 'indices', 'indexes', 'indexers', 'replicas', 'splits'));
end $$;

-- What one key of a frame says: that the answer failed, or that there is more than came. Names are compared without case,
-- `_`, `-` and space. Of a 404 without records what merely repeats the 404 in words does not count: it is judged as a
-- frame. A code that begins with 2 is a success, 20000 too. Beside records
-- (with_records) other codes than 4.. and 5.. are successes, and a number of errors counts something; without records both are
-- failures. A number beside "timeout" or "cancelled" is a limit, or counts something.
create function daywalk.key_says(name text, value jsonb, status integer, with_records boolean, out fault boolean, out more boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  kind text := jsonb_typeof(value);
  -- Objects, lists and null say nothing by themselves.
  said text := case when kind in ('object', 'array', 'null') then '' else daywalk.in_small_letters(btrim(value #>> '{}')) end;
  is_true boolean := said in ('true', '1', 'yes');
  is_false boolean := said in ('false', '0', 'no');
  is_of_query boolean := name ~ '^(job|query|search|dispatch|task|response|progress)(status|state)$';
begin
  fault := case
    when name in ('iserror', 'haserror', 'haserrors', 'isfailed') or name ~ '^(is|has)?(query|search|request|results?|server|backend)?timedout$' then is_true
    when name in ('timeout', 'hastimeout', 'reachedtimeout', 'aborted', 'isaborted', 'cancelled', 'iscancelled', 'canceled', 'iscanceled',
                  'interrupted', 'isinterrupted', 'throttled', 'isthrottled', 'ratelimited', 'isratelimited') then said in ('true', 'yes')
    when name in ('code', 'status', 'statuscode', 'httpcode', 'httpstatus', 'httpstatuscode', 'responsecode', 'resultcode')
         and said ~ case when with_records then '^[45][0-9]{2,}\M' else '^([4-9][0-9]{2}|[13-9][0-9]{3,})\M' end then status <> 404 or said !~ '^404'
    when name in ('shards', 'partitions', 'splits', 'indices', 'indexes', 'indexers', 'replicas', 'nodes', 'searchnodes', 'clusters', 'remoteclusters',
                  'peers', 'searchpeers', 'managers', 'tenants', 'sources', 'datasources', 'servers', 'backends', 'regions') then kind = 'object' and daywalk.lacks_parts(name, value)
    when status = 404 then false
    when with_records and name in ('errors', 'exceptions', 'fail', 'failed', 'failures', 'succeeded') and said ~ '^[0-9]+$' then false
    when name ~ '^(err(or)?(s|no|code|msg|message|description|details?|info|list|reason)?|pendingerrors|exceptions?|fault|fail(ed|ures?|urereason)?)$' then case kind when 'number' then value <> '0' else not daywalk.says_nothing(value) end
    when name in ('success', 'ok', 'issuccess', 'issuccessful', 'succeeded') then is_false
    when name = 'successful' then said = 'false'
    when is_of_query or name in ('status', 'state', 'result', 'outcome', 'statustext', 'code', 'statuscode', 'resultcode', 'responsecode')
      then said = 'false'
           or regexp_replace(said, '\m(no|0|zero|without)[ _-]+(any )?(errors?|fail(ed|ures?)?|faults?|exceptions?)\M', '', 'g') ~ 'error|fail(?!ed over|[ _-]?(over|back|safe))|exception|unavailable|timed?[ _-]*out|denied|forbidden|unauthori[sz]ed|abort|reject|overload|not[ _-]?ok|\m(err|ko|nok)\M'
              and said !~ '^(no|0|without)\M' and not daywalk.says_nothing(value)
           or is_of_query and said ~ '^(cancel|throttl|kill|interrupt)' or name = 'status' and said ~ '^cancell?ed$'
    -- Beside records a message may be of anything; alone it says why there are none.
    when name in ('message', 'msg', 'detail', 'reason') then not with_records
      and said ~ '\mthrottl|\m(rate|request)s?[ -]?limit(s|ing|ed)?( (is|was|has been|have been))? ?(exceed|reach|hit\M)|\mtoo many (concurrent )?(requests|queries|searches|connections)|\mslow down|\m(server|service|system|search|backend|cluster)( (is|are))?( too| currently)? busy\M|\m(retry|try again) (later|in [0-9a])|\mtimed[ -]?out|\m(temporarily|service|currently) unavailable|overload|\mquota( (is|was|has been))? (exceeded|exhausted|used up)|\minternal( server)? error'
    -- Parts of the source that are away, one of them maybe number 0. A mere number of errors may be anybody's.
    when name ~ '^(failed|missing|timedout|un(available|reachable|responsive|answered)|offline|disconnected)?(shards|partitions|splits|indices|indexes|indexers|replicas|(search)?(nodes|peers)|(remote)?clusters|managers|tenants|(data)?sources|servers|backends|regions)(failed|missing|timedout|un(available|reachable|responsive|answered)|offline|disconnected|not(responding|answering|reach(ed|able)|available|searched|queried))?$'
      -- What is offline, and how many are, is told of what is watched, too.
      then (not daywalk.says_nothing(value) or kind = 'array' and value @> '[0]')
           and (name !~ 'offline|disconnected' or kind <> 'number' and name !~ 'clusters|managers|tenants|sources|servers|regions')
    when name ~ '^unreachable$|^(shard|partition|split|index|indexer|replica|node|cluster|peer|manager|remote|(data)?source|server|region)(errors|failures)$'
      then not daywalk.says_nothing(value) and (kind in ('array', 'object') or name ~ '^(shard|partition|datasource)')
    else false
  end;
  more := case
    -- Vespa.
    when name = 'coverage' then value @> '{"full": false}'
    when name in ('partialfailure', 'partialfailures', 'partialerror', 'partialerrors') then not daywalk.says_nothing(value)
    -- Of a hundred, or of one; progressRate is of Trend Vision One, a number in progressStatus of SentinelOne.
    when name ~ '^percent(age)?(completed?|done|finished)$|^(completed?|completion|done)percent(age)?$|^(job|query|search|done)progress$|^progressrate$'
      or name = 'progressstatus' and kind = 'number'
      then said ~ '^[0-9]{1,2}(\.[0-9]+)? *%?$' and said !~ '^1(\.0+)?$'
    -- What is cut within a record.
    when name ~ 'field|column|attribut|payload|descript' then false
    -- Why it is not whole, or by what it was cut, in place of a flag; Scalyr: omittedEvents.
    when name ~ '(partial|incomplete|trunca(ted|tion))reason$' and kind not in ('boolean', 'number')
      or name ~ '^(is)?(partial|incomplete|truncated)$' and (kind = 'string' or name !~ 'truncated' and jsonb_typeof(value -> 0) = 'string')
      then not daywalk.says_nothing(value)
           and said !~ '^(n|f|na|off|full|whole|complete|never|(not|never|un)[ _-]?(truncated|partial|incomplete|applicable))$|_unspecified$'
    when name ~ '^(has|is)?(missing|omitted|dropped)(data|results|records|events|hits|rows)$|^(data|results|records|events|hits|rows)(missing|omitted|dropped)$'
      then said in ('true', 'yes') or kind = 'number' and value <> '0' and name ~ 'omitted'
    when said = '' or kind = 'number' and said not in ('1', '206') then false
    -- Solr: partialResults, also "omitted"; GitHub: incomplete_results; SharePoint, Exchange: MoreDataAvailable; Splunk: preview.
    when name ~ '^((is|has)?(partial|incomplete|truncated|more)|hasnext|terminatedearly|exceededtransferlimit)' and name !~ '(allow|enabl|accept|support)(ed)?$|^(is)?partialmatch$|more(info|information|details)$' then is_true or said = 'omitted'
    -- Within other names a number counts something, and some name an option.
    when name ~ 'allow|includ|enabl|accept|support|match|^(api|rate|quota|usage|sla)' then false
    when name ~ '^(is)?(preview|degraded|running|inprogress)$|partial|incomplete|truncated|(limit|timeout|deadline|max(results|events|records|rows|hits|size|count)?)(reached|exceeded|hit)$|^(reached|exceeded|hit)(limit|max)$|^toomany(events|results|records|rows|hits)$|^(is)?((results?|records|events|hits|rows|response|output)?(capped|clipped|overflow(ed)?)|(results?|records|events|hits|rows)limited)$'
              -- Typesense, Solr, Algolia, Chronicle, Google Analytics.
              '|^searchcutoff$|terminatedearly$|^timeouthits$|^toolargeresponse$|^containssampleddata$'
      then said in ('true', 'yes')
    -- BigQuery: jobComplete; Salesforce: done; Spring Data: last; Jira: isLast.
    when name ~ '^((is)?(job|query|search|results?|data)?(complete|completed|done|finished)|all(results|records|events|data)(returned|included|shown)|(is)?final|(is)?last(page)?|searche?d?completely)$' then said in ('false', 'no')
    when name in ('code', 'status', 'statuscode', 'httpcode', 'httpstatus', 'httpstatuscode', 'responsecode') and said ~ '^(206\M|partial)' then true
    -- A service runs, waits and processes, too; only what was asked is executed, or has its results gathered (QRadar, Sumo Logic).
    when name ~ '^((results?|response)?(status|state)|result|completeness|progress)$' then said ~ '^(partial|incomplete|truncated|gathering results|execut(e|ing)\M)'
    when is_of_query
      then said ~ '\mmax(imum)? (results|events|records|rows|hits)|^(partial|incomplete|truncated|execut(e|ing)\M|gathering|wait|degraded)' or daywalk.goes_on(said)
    else false
  end;
end $$;

-- Whether a warning says that the list is not whole. What is cut within a record, deprecated or denied does not, nor what somebody
-- else did not answer.
create function daywalk.warns_of_more(warning text) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  if warning ~ 'deprecat|\mper (request|page|call)\M|\m(no|not|never|without)( be| been)? (partial|incomplete|truncated)\M|\m(fields?|values?|columns?|attributes?|characters?|strings?)\M' then return false; end if;
  return warning ~ '\m(partial|incomplete|truncated)( search| query)? (results?|records|events|hits|rows|data|responses?|answers?)\M'
      or warning ~ '\m(results?|records|events|hits|rows|responses?|answers?|output)\M[^.;]*;? (partial|incomplete|truncated) *($|[^a-z ]|(at|after|to|by|for|from|as|because|since|due|and)\M)'
      -- What is asked itself, and no service beside it: the subject begins the sentence, or has an article or a number before it.
      or warning ~ '(^|[.;:,([] *|\m(the|this|some|an?|one|more|of|[0-9]+)( search| data| remote| index)? )(search|query|shards?|nodes?|peers?|indexers?|clusters?|partitions?|replicas?)( [^ .;]+){0,3}( has| have)? (timed[ -]?out|(did not|didn.t|does not|do not) (answer|respond)|(is |are )?not responding|ended prematurely|auto-?finali[sz]ed)\M'
      or warning ~ '(^|[.;:,([] *|\m(the|this|your) )(search(ing)?|query)( job| process| request)? (was|has been|got) (cancell?ed|aborted|killed|interrupted|terminated)\M|\munable to distribute to (the )?(search )?peer\M'
      or warning ~ '\m(some|one|several|[0-9]+|search)( or (more|several))?( of the)? (ind(ices|exes)|shards|nodes|peers|indexers|partitions|replicas) (is|are) (missing|unavailable|unreachable|offline|down)\M|\mbecause (the )?(search )?peer has status\M|\mpartial_data_available\M'
      or warning ~ '\m(results|records|events|hits|rows)( (is|are|was|were|has been|have been))? (limited|capped|restricted|clipped) to\M|\monly (the )?first [0-9,.]+ (of [0-9,.]+ )?(results|records|events|hits|rows)\M|\msome( of the)? (data|results|records|events|hits|rows)( (is|are|was|were|has been|have been|(may|might|could) (be|have been)))? (dropped|omitted|discarded|skipped|missing)\M'
      or warning ~ '\mnot all( of the| the)? (results|records|events|hits|rows|shards|nodes|peers|indexers|clusters|partitions)( [^ .;]+)? (were|was|are|is|could be|can be|have been) ([a-z]+ )?(searched|returned|shown|listed|included|available|reached|read|queried)\M'
      or warning ~ '(\mnot all (of the )?(shards|nodes|peers|indexers|partitions|replicas) (answered|responded|replied)|(?<!\m0 of |[0-9,.])[1-9][0-9,.]* (shards|partitions) failed)\M';
end $$;

-- What messages beside the list say, one or a list: the first of which type, level or severity is an error or fatal, and whether one
-- is a warning that the list is not whole, as a message alone may be. A code has `_` for spaces; the name of a parameter is none.
create function daywalk.messages_say(name text, messages jsonb, out fault text, out more boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  message jsonb;
  level text;
begin
  more := false;
  for message in select jsonb_array_elements(case jsonb_typeof(messages) when 'array' then messages else jsonb_build_array(messages) end) loop
    -- Notes that are more than words are what a person wrote.
    continue when name = 'notes' and jsonb_typeof(message) = 'object';
    level := daywalk.in_small_letters(case jsonb_typeof(message) when 'object' then
      (select string_agg(value, E'\n') from jsonb_each_text(message) where daywalk.in_small_letters(key) in ('type', 'level', 'severity')) end);
    if name !~ '^not' and level ~ '(?n)^(error|fatal)\M' or level is null and name = 'errormessages' and not daywalk.says_nothing(message) then fault := coalesce(fault, left(message::text, 300)); end if;
    if level ~ '(?n)^warn' or name ~ '(warnings?|warningmessages?|^message|^msg|^notices?|^notes?)$' and coalesce(level !~ '(?n)^(info|notice|hint|debug)', true) then
      more := more or daywalk.warns_of_more(daywalk.in_small_letters(case jsonb_typeof(message)
        when 'object' then (select string_agg(case when daywalk.in_small_letters(key) ~ '(code|type|kind|reason|warning|message)$' and value !~* '\s|allow|enabl|disabl|support|param|option' then translate(value, '_', ' ') else value end, '; ') from jsonb_each_text(message))
        -- What a note says of every answer: how long events are kept, and whose are shown.
        when 'string' then case when name ~ '^not' then regexp_replace(message #>> '{}', '\m(limited|restricted) to (your\M|those\M|(the )?(last|past|previous) ([0-9]+ )?(day|week|month|year)s?\M)', '', 'gi') else message #>> '{}' end
        else message #>> '{}' end)) is true;
    end if;
  end loop;
end $$;

-- Whether a state says that work goes on: the whole of it, with what it waits for, or how far it is.
create function daywalk.goes_on(state text) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return translate(state, '_-', '  ') ~ concat(
    '^((still|now|query|search|job|request|task|is) +)*((en)?queued|in queue|pending|running|in ?progress|(pre)?processing|accepted|submitted|scheduled|dispatched|start(ed|ing)',
    '|wait(ing)?|executing|searching|retrieving|loading|restoring|rehydrating|thawing|preparing|initiali[sz]ing|parsing|sorting|finali[sz]ing|paused|suspended|deferred|delayed',
    '|not (yet )?(started|ready|complete|finished|done))( +(for|on|in|at|behind)\M.*|\W*[:(0-9].*)?\W*$');
end $$;

-- Whether one key beside no records says why there are none, and it is not that nothing happened: work goes on, or what was asked for
-- is kept where it was not looked for. A place by itself says nothing, as it may have been searched: "no archived events".
create function daywalk.gives_no_answer(name text, value jsonb) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  said text := daywalk.in_small_letters(btrim(case when jsonb_typeof(value) in ('string', 'boolean') then value #>> '{}' end));
  kept constant text := '(data|events|logs|records|results|documents|ind(ex|ices|exes)|range|dates?|days?|period|partitions?|shards?|buckets?|segments?|snapshots?|tier|storage)';
  none constant text := '\m(no|0|zero)( (archived|frozen|offline|cold|closed|matching|such))* (data|events|logs|records|results|documents|alerts)( (is|are|was|were|has been|have been))?( (archived|frozen|stored|kept|available))?\M';
begin
  if name ~ '^(is)?(archived|frozen|offline)$' and said in ('true', 'yes')
     or name in ('status', 'state', 'statustext', 'result', 'outcome', 'message', 'msg', 'detail', 'reason')
        and (daywalk.goes_on(said) or said ~ '^(archived|frozen|offline|dehydrated)\W*$')
     or name ~ '^((query|search)?job|task|execution)$' and (daywalk.goes_on(daywalk.in_small_letters(value ->> 'status')) or daywalk.goes_on(daywalk.in_small_letters(value ->> 'state')))
  then return true; end if;
  return exists (
    select from jsonb_path_query(value, 'strict $.** ? (@.type() == "string")') as leaf
     cross join lateral regexp_replace(translate(daywalk.in_small_letters(leaf #>> '{}'), '_-', '  '), none, '', 'g') as text
     where text ~ concat(
       -- Data for this date has been archived; index is closed; moved to cold storage.
       '\m', kept, '\M( [^ .:;,]+){0,3} (is|are|was|were|been|already)( [a-z]+)? (archived|frozen|offline|dehydrated|unloaded|unmounted|offloaded)\M',
       '|\m(ind(ex|ices|exes)|shards?|buckets?|partitions?)( [^ .:;,]+){0,3} closed\M|\mclosed ind(ex|ices|exes)\M',
       '|\m((moved|migrated|transferred|transitioned|offloaded|tiered|rolled)( [^ .:;,]+){0,2} (in)?to|(only|stored|kept|held|resides?|is|are|now)( available)? (in|on|from)) (the |an? )?(archiv(e|al)|cold|frozen|glacier|deep|tape|offline)\M',
       -- Submit a restore request; must be restored; frozen tier: not searched; no longer available online.
       '|\mrestor(e|al|ation) (request|job|it\M|them\M|to (view|search|see|query|access))|\m(submit|request|start|initiate|trigger|requires?|needs?) (an? )?restor(e|al|ation)\M|\mrehydrat(e|ing|ion)\M|\munarchiv|\munfreez',
       '|\m(be|being)( first)? (restored|rehydrated|thawed|recalled|unarchived|mounted)\M',
       '|\m(not|never|cannot|no longer|(is|are|was|were)n.t)( (yet|currently|be|been|immediately|directly|being))* (searched|searchable|queried|queryable|loaded|mounted|restored|rehydrated|thawed|(available |stored |kept )?online)\M',
       -- The search is still running; results are not ready yet.
       '|\mstill (running|processing|searching|executing|loading|indexing|in progress|being)\M|(?<!no )\m(search|query|job|task|request|indexing|retrieval)( (is|was|has been))?( (still|currently|now))? (running|queued|pending|in progress|in queue|scheduled|being)\M',
       '|\m(results|data|events|records|logs) (is|are) (not (yet )?ready|not yet (available|complete|indexed|loaded)|being (prepared|loaded|indexed|retrieved|gathered|collected))\M'));
end $$;

-- What one object of a frame says: the first key that tells of a failure, with its value, and whether there is more. The key that
-- leads on to the list is not judged. A status in an object `about` a query is that of the query, and so is one beside what identifies it,
-- or how far it is.
create function daywalk.object_says(place jsonb, onward text, status integer, with_records boolean, about text default '', out fault text, out more boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  ids constant text[] := '{jobId,job_id,taskId,task_id,searchId,search_id,queryId,query_id}';
  its_about constant text := case when about = '' and (place ?| ids or jsonb_typeof(place -> 'progress') = 'number' and place -> 'progress' <> '100') then 'query' else about end;
  name text;
  plain text;
  counts jsonb;
  counted boolean := false;
  said record;
begin
  more := false;
  if jsonb_typeof(place) is distinct from 'object' then return; end if;
  for name in select jsonb_object_keys(place) loop
    continue when name = onward;
    plain := translate(daywalk.in_small_letters(name), '_- ', '');
    if not with_records and daywalk.gives_no_answer(plain, place -> name) then
      fault := coalesce(fault, format('%s: %s', name, left((place -> name)::text, 300)));
    end if;
    -- A thing with a version, or one that tells how long it is up, runs or is tried out itself.
    continue when plain in ('preview', 'ispreview', 'degraded', 'isdegraded', 'running', 'isrunning')
      and place ?| case when onward is null then '{name,version,service,uptime,pid}' else '{service,uptime,pid}' end::text[];
    if plain ~ '^((is|has)?(err|fail|success)|message|msg|detail|reason|pendingerr|fault|exception|succeeded|ok$|stat|result|outcome|code|http|response|(is)?(abort|cancel|interrupt|throttl|ratelimited)|(is|has)?(more|next)|(is)?(preview|degraded|running|complete|done|finished|final|last)|is(job|query|search|results?|data)|(has|is)?(missing|omitted|dropped)|coverage$|(job|query|search|dispatch|task|progress|results?|data|all)|terminated|exceeded|reached|hit(limit|max)|toomany)|partial|incomplete|truncated|percent|progress$|shards|partitions|splits|indices|indexe|replicas|nodes|clusters|peers|managers|sources|servers|backends|regions|tenants|unreachable|(reached|exceeded|hit|capped|clipped|limited|missing|omitted|dropped|truncationreason|overflow(ed)?|errors|failures|cutoff|early|timed?out|timeouthits|toolargeresponse|sampleddata)$' then
      counted := counted or plain ~ '.(shards|partitions|indices|indexers|nodes|clusters|peers|servers|backends|regions)|s(total|queried|successful|responded)$';
      said := daywalk.key_says(
        case when plain in ('status', 'state') and place ->> name !~ '^[0-9]' then its_about || plain
             -- FortiAnalyzer: beside what identifies a search stands how far it is.
             when plain in ('percent', 'percentage') and place ?| (ids || '{tid,sid}') then 'percentcomplete'
             else plain end, place -> name, status, with_records);
      more := more or said.more;
      if said.fault then fault := coalesce(fault, format('%s: %s', name, left((place -> name)::text, 300))); end if;
    end if;
    -- Carbon Black tells of how many servers the answer is.
    if plain = 'contacted' and jsonb_typeof(place -> name) = 'number' and jsonb_typeof(place -> 'completed') = 'number' then
      more := more or place -> 'completed' < place -> name;
    end if;
    if plain in ('messages', 'warning', 'warnings', 'warningmessage', 'warningmessages', 'errormessages', 'pendingwarnings', 'notices', 'notes') or plain in ('message', 'msg', 'notice', 'note') and jsonb_typeof(place -> name) = 'string' then
      said := daywalk.messages_say(plain, place -> name);
      more := more or said.more;
      if status <> 404 then fault := coalesce(fault, name || ': ' || said.fault); end if;
    elsif jsonb_typeof(place -> name) = 'object' then
      said := daywalk.beside_says(plain, place -> name, status, with_records);
      more := more or said.more;
      fault := coalesce(fault, name || '.' || said.fault);
    end if;
  end loop;
  -- What is counted of the parts of a source side by side: totalShards, successfulShards.
  if not counted then return; end if;
  for plain, counts in
    select told[2], jsonb_object_agg(coalesce(told[1], told[3]), place -> key)
      from jsonb_object_keys(place) as key
     cross join lateral regexp_match(translate(daywalk.in_small_letters(key), '_- ', ''),
       '^(?:num(?:ber)?(?:of)?)?(total|queried|successful|responded|skipped|pruned|excluded|filtered|disabled)?(shards|partitions|indices|indexers|nodes|clusters|peers|servers|backends|regions)(total|queried|successful|responded|skipped|pruned|excluded|filtered|disabled)?$') as told
     where coalesce(told[1], told[3]) is not null
     group by told[2]
  loop
    if daywalk.lacks_parts(plain, counts) then fault := coalesce(fault, format('%s: %s', plain, counts)); end if;
  end loop;
end $$;

-- What an object beside the list says. One that by its name tells of the answer is judged as the root is; what is counted in
-- `_shards` is parts of the source. Statistics may count failures of something else. Of any other object only words are heard that
-- can mean nothing else, and not where it holds what was asked, an option, or a thing that may be so itself. Numbers count something.
create function daywalk.beside_says(name text, place jsonb, status integer, with_records boolean, out fault text, out more boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  of_answer boolean;
  -- An echo of what was asked for may ask for what is done or cancelled; what ran is none.
  of_run constant boolean := name ~ '^(job|execution)(info|meta|metadata)?$';
  key text;
  plain text;
  said text;
begin
  more := false;
  if name ~ '^(shards|meta|metadata|header|response(header|status)|status|page|pagination|paging|info|stats|(page|results?|resultset|response|query|search)(info|meta|metadata))$' then
    select s.fault, s.more into fault, more
      from daywalk.object_says(place, null, status, with_records and name <> 'shards', coalesce(substring(name from '^(?:query|search)'), '')) as s;
    if name in ('info', 'stats') then fault := null; end if;
    return;
  end if;
  for key in select jsonb_object_keys(place) loop
    plain := translate(daywalk.in_small_letters(key), '_- ', '');
    continue when plain !~ 'partial|incomplete|truncated|^hasmore|^((is)?(completed?|done|finished|timedout|cancell?ed)|completedexceptionally|status|state)$' or jsonb_typeof(place -> key) not in ('boolean', 'string');
    of_answer := name ~ '^(query|search|job|execution|response|results?|summary|statistics)(info|meta|metadata|stats|statistics)?$';
    if name ~ 'request|param|option|setting|config|filter|criteria|argument|input|feature|capabilit|permission|default|facet|agg|schema'
       or place ?| '{name,title,from,to,fromDate,toDate,start,end,since,until,limit,offset,page,per_page,length,size,filter,filters,q,sort,order}'
       or (not of_answer or name ~ '^(job|exec)') and place ?| '{id,_id,uuid,key}' then return; end if;
    said := daywalk.in_small_letters(place ->> key);
    more := more or (of_answer or plain ~ 'result|record|event|hits|rows|response')
        and plain ~ '^(is|has)?(results?|records|events|hits|rows|data|response|search)?(partial|incomplete|truncated)(results?|data|response)?$|^hasmore(results|records|events|hits|rows)$' and said in ('true', 'yes')
      or of_answer and (plain in ('complete', 'iscomplete') and said in ('false', 'no') or plain in ('status', 'state') and said ~ '^(partial|incomplete|truncated)')
      or of_run and (plain ~ '^(is)?(completed|done|finished)$' and said in ('false', 'no') or plain in ('status', 'state') and daywalk.goes_on(said));
    if of_run and plain ~ 'cancel|exception' and said in ('true', 'yes')
       or of_answer and (plain in ('timedout', 'istimedout') and said in ('true', 'yes') or plain in ('status', 'state') and said ~ '^timed?[ _-]?out') then
      fault := coalesce(fault, format('%s: %s', key, place -> key));
    end if;
  end loop;
end $$;

-- What the frame of an answer says: its root, and the objects on the way to the list. A bare list has no frame. One without
-- records is judged as if it had some where its frame is known for them.
create function daywalk.frame_says(body jsonb, records_path text[], status integer, known boolean default false, out fault text, out more boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  with_records constant boolean := known or body #> (records_path || '0'::text) is not null
    -- Where the list is is not known yet.
    or records_path = '{}' and jsonb_typeof(body) = 'object';
  said record;
begin
  said := daywalk.object_says(body, records_path[1], status, with_records);
  fault := said.fault;
  more := said.more;
  for depth in 2 .. coalesce(cardinality(records_path), 0) loop
    said := daywalk.object_says(body #> records_path[: depth - 1], records_path[depth], status, with_records);
    fault := coalesce(fault, said.fault);
    more := more or said.more;
  end loop;
end $$;

-- What a frame says, but for list and total, which count by their presence: at each path what counts there, and what stands there.
-- Numbers count by their type (a code, or how many errors, by its value), words that hold a digit and names of days and months are one,
-- because they tell times and requests.
create function daywalk.words_of(body jsonb, records_path text[], total_path text[], relation_path text[])
returns table (path text[], word text, said text, is_text boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return query with recursive leaf (path, value) as (
    select '{}'::text[], case when records_path = '{}' then '[]' when body #> records_path is null then body else body #- records_path end
    union all
    select leaf.path || inside.step, inside.value
      from leaf
     cross join lateral (
       select key, value from jsonb_each(case jsonb_typeof(leaf.value) when 'object' then leaf.value else '{}' end)
       union all
       select '[]', value from jsonb_array_elements(case jsonb_typeof(leaf.value) when 'array' then leaf.value else '[]' end)
     ) as inside (step, value)
     where leaf.path || inside.step is distinct from relation_path
  )
  select leaf.path, case
           when leaf.path = total_path and kind in ('number', 'string') then 'total'
           when kind = 'string' then regexp_replace(regexp_replace(daywalk.in_small_letters(value #>> '{}'),
             '\S*[0-9]\S*|\m(mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\M,?', '#', 'g'),
             '#(\s+#)+', '#', 'g')
           when kind = 'boolean' or kind = 'number' and daywalk.in_small_letters(leaf.path[cardinality(leaf.path)]) ~ '((?<!en|de)code|status|errno|^[_ -]*(errors|failed|failures|succeeded))$' then value::text
           else kind
         end,
         value #>> '{}',
         kind = 'string' and leaf.path is distinct from total_path
    from leaf cross join lateral (select jsonb_typeof(value) as kind) as typed;
end $$;

-- What the frame of an answer without records is recognised by: its paths, types and texts. Wordless: it holds no text at all.
create function daywalk.frame_of(
  body jsonb, records_path text[], total_path text[], relation_path text[], status integer,
  out signature text, out wordless boolean)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  select encode(sha256(convert_to(status || ' ' || coalesce(jsonb_typeof(body #> records_path), 'absent') || ' '
                                  || string_agg(line, E'\n' order by line collate "C"), 'UTF8')), 'hex'),
         not bool_or(is_text)
    into signature, wordless
    from (select distinct w.path::text || ' ' || w.word as line, w.is_text
            from daywalk.words_of(body, records_path, total_path, relation_path) as w) as told;
end $$;

-- A hash of a record. Of its text, in which keys stand in one order: the hash that Postgres has for jsonb is the same for two records
-- that differ in a value which both hold in two fields, 16 or 48 fields apart.
create function daywalk.hash_of(record jsonb) returns bigint
immutable parallel safe return hashtextextended(record::text collate "C", 0);

-- A value with its lists sorted, its numbers without zeros behind, and without members that are null: one form for what a source
-- writes in several, 5 and 5.0, null and nothing, or the members of a set in any order. It is not called for strings, which are
-- most values, because a call takes longest.
create function daywalk.in_one_form(value jsonb) returns jsonb
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return case jsonb_typeof(value)
    when 'array' then coalesce((select jsonb_agg(inside.form order by inside.form::text collate "C")
                                  from (select case jsonb_typeof(element) when 'string' then element else daywalk.in_one_form(element) end as form from jsonb_array_elements(value) as element offset 0) as inside), '[]')
    when 'object' then coalesce((select jsonb_object_agg(member.key, case jsonb_typeof(member.value) when 'string' then member.value else daywalk.in_one_form(member.value) end) from jsonb_each(value) as member where jsonb_typeof(member.value) <> 'null'), '{}')
    when 'number' then to_jsonb(trim_scale(value::numeric))
    else value end;
end $$;

-- A hash of each record of a list, in order, without what is not the record: values that differ each time it is asked
-- for, by JSON pointers; and, where '[]' is among those, the order within lists, zeros behind numbers and members that are null.
create function daywalk.hashes_of(list jsonb, ignored text[]) returns bigint[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  records jsonb[] := array(select record from jsonb_array_elements(case jsonb_typeof(list) when 'array' then list else '[]' end)
                                          with ordinality as r (record, position) order by position);
  pointer text;
  path text[];
begin
  foreach pointer in array array_remove(ignored, '[]') loop
    path := array(select replace(replace(step, '~1', '/'), '~0', '~')
                    from unnest((string_to_array(pointer, '/'))[2 :]) with ordinality as steps (step, number) order by number);
    records := array(select case when record #> path is null then record
                                 -- What is left out of a list leaves its place behind, so that others keep theirs.
                                 when jsonb_typeof(record #> path[: cardinality(path) - 1]) = 'array' then jsonb_set(record, path, 'null')
                                 else record #- path end
                       from unnest(records) with ordinality as r (record, position) order by position);
  end loop;
  if '[]' = any (ignored) then
    records := array(select daywalk.in_one_form(record) from unnest(records) with ordinality as r (record, position) order by position);
  end if;
  return array(select daywalk.hash_of(record) from unnest(records) with ordinality as r (record, position) order by position);
end $$;

-- What identifies a record; null where nothing stands there, or what sources write for nothing, or U+FFFD is in it, by which a repaired
-- copy has what jsonb cannot hold, so that two identities may be one there: such records are their content. Its body is parsed when it
-- is made, so it needs no search path, and is part of the query that calls it.
create function daywalk.identity_of(record jsonb, id_path text[]) returns jsonb
immutable parallel safe
return case when record #>> id_path not in ('', '0', '{}', '[]') and strpos(record #>> id_path, chr(65533)) = 0 then record #> id_path end;

-- A hash of what identifies each record of a list, in order; null for one that is its content.
create function daywalk.ids_of(list jsonb, id_path text[]) returns bigint[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array(select jsonb_hash_extended(daywalk.identity_of(record, id_path), 0)
                 from jsonb_array_elements(case jsonb_typeof(list) when 'array' then list else '[]' end) with ordinality as r (record, position)
                order by position)
$$;

-- The hashes of a page's records without what is ignored now, and of what identifies them now: as they were stored or, where
-- something else held then, read anew. Parts of the query that calls them, too.
create function daywalk.hashes_in(stored bigint[], without text[], body jsonb, records_path text[], skip integer, ignored text[]) returns bigint[]
immutable parallel safe return case when without = ignored then stored else (daywalk.hashes_of(body #> records_path, ignored))[skip + 1 :] end;
-- The hashes of what identifies the records of a page; null: they are not identified.
create function daywalk.ids_in(stored bigint[], stored_by text[], body jsonb, records_path text[], skip integer, id_path text[]) returns bigint[]
immutable parallel safe return case when id_path is null then null when stored_by = id_path then stored
                                    else (daywalk.ids_of(body #> records_path, id_path))[skip + 1 :] end;

-- Whether a frame is known for answers without records.
create function daywalk.knows_frame(of_stream integer, of_frame text) returns boolean
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return of_frame is not null and exists (
    select from daywalk.frames f where f.stream_id = of_stream and f.signature = of_frame and f.confirmed_at is not null);
end $$;

-- What an answer holds: the JSON type in the place of the list ('null' also where one without records is written otherwise; words where
-- it holds what is no object, as a record is), how many records came, the total, the word that qualifies it, what the frame says, a hash
-- of each record in order, and one of its identity where the stream has one. Of an answer without records also what its frame is
-- recognised by.
create function daywalk.read_page(
  of_stream integer, body jsonb, status integer, records_path text[], total_path text[], relation_path text[], ignored text[], id_path text[],
  out list_type text, out came integer, out total bigint, out relation text, out fault text, out more boolean,
  out signature text, out wordless boolean, out frame_known boolean, out hashes bigint[], out id_hashes bigint[])
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  list jsonb := body #> records_path;
  told text := body #>> total_path;
begin
  -- An empty list is {} in Lua's JSON, and "" where a template leaves it out.
  list_type := case when records_path <> '{}' and list in ('{}', '""') then 'null'
                    when jsonb_path_exists(list, 'strict $[*] ? (@.type() != "object")', silent => true) then 'what is no record'
                    else jsonb_typeof(list) end;
  came := case when list_type = 'array' then jsonb_array_length(list) when coalesce(list_type, 'null') = 'null' then 0 end;
  total := case when told ~ '^[0-9]{1,15}(\.0+)?$' then told::numeric::bigint end;
  relation := body #>> relation_path;
  if came = 0 then
    select frame.signature, frame.wordless into signature, wordless
      from daywalk.frame_of(body, records_path, total_path, relation_path, status) as frame;
  end if;
  frame_known := daywalk.knows_frame(of_stream, signature);
  select said.fault, said.more into fault, more from daywalk.frame_says(body, records_path, status, frame_known) as said;
  hashes := case when ignored = '{}' or coalesce(came, 0) = 0
                 then array(select daywalk.hash_of(list -> i) from generate_series(0, came - 1) as i order by i)
                 else daywalk.hashes_of(list, ignored) end;
  if id_path is not null then
    id_hashes := daywalk.ids_of(list, id_path);
  end if;
end $$;

-- Some sources tell the total with the first page only.
create function daywalk.tells_total(of_stream integer, at_path text[], start bigint) returns boolean
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from daywalk.contracts c
     where c.stream_id = of_stream and c.total_path = at_path and (c.total_later or start = 0 and c.total_first));
end $$;

-- The pages of some walks. Where days are joined a planner thinks of every month that is stored, once for each statement; here
-- the plan is kept, and goes to the month of a walk. last_page: none behind this one.
create function daywalk.pages_of(walks bigint[], last_page integer default 2147483647) returns setof daywalk.pages
language plpgsql stable rows 10 set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  its_id bigint;
  its_day date;
begin
  for its_id, its_day in select k.walk_id, k.day from daywalk.walks k where k.walk_id = any (walks) loop
    return query select * from daywalk.pages p where p.walk_id = its_id and p.day = its_day and p.page_no <= last_page;
  end loop;
end $$;

-- Reads an answer that is looked at and not stored, and compares it with what a walk has stored; 0: with none. Its first records may
-- stand before those that were asked for (before).
-- begins_with_last: its first record is the last one stored; strangers: by what identifies them none of its records stands in the
-- walk, looked at where that is asked for (by_identity).
-- A procedure that keeps its plans, as the one below: questions are asked more often than pages are stored.
create procedure daywalk.compare_answer(
  of_stream integer, walk bigint, at_start bigint, list_at text[], total_at text[], relation_at text[], http_status integer,
  without text[], by_identity boolean, before integer, content jsonb,
  out came integer, out list_type text, out total bigint, out relation text, out total_missing boolean, out fault text,
  out more boolean, out signature text, out wordless boolean, out frame_known boolean, out digest text, out hashes text[],
  out begins_with_last boolean, out strangers boolean)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  its_day date;
  its_ignored text[];
  its_list_at text[];
  its_id_path text[];
  id_path_now text[];
  shown bigint[];
  identities bigint[];
  known bigint[];
begin
  select k.day, k.ignored, k.records_path, k.id_path, case when by_identity then s.id_path end
    into its_day, its_ignored, its_list_at, its_id_path, id_path_now
    from daywalk.walks k join daywalk.streams s on s.stream_id = of_stream
   where k.walk_id = walk;
  select f.came, f.list_type, f.total, f.relation, f.fault, f.more, f.signature, f.wordless, f.frame_known, f.hashes, f.id_hashes
    into came, list_type, total, relation, fault, more, signature, wordless, frame_known, shown, identities
    from daywalk.read_page(of_stream, content, http_status, list_at, total_at, relation_at, coalesce(without, its_ignored, '{}'), id_path_now) as f;
  came := greatest(0, came - before);
  shown := shown[before + 1 :];
  total_missing := came > 0 and total is null and daywalk.tells_total(of_stream, total_at, at_start);
  digest := hash_array_extended(shown, 0);
  hashes := shown;
  begins_with_last := coalesce(
    (select p.record_hashes[cardinality(p.record_hashes)]
       from daywalk.pages p
      where p.walk_id = walk and p.day = its_day and p.records > 0
      order by p.page_no desc limit 1) = shown[1], false);
  strangers := false;
  if by_identity and came > 0 then
    -- What had no identity then tells nothing: its source may have come to give one.
    known := array(select i.id_hash
                     from daywalk.pages p
                    cross join lateral unnest(daywalk.ids_in(p.id_hashes, its_id_path, p.body, its_list_at, p.skip, id_path_now)) as i (id_hash)
                    where p.walk_id = walk and p.day = its_day and i.id_hash is not null);
    strangers := cardinality(known) > 0 and array_position(identities, null) is null
      and not exists (select unnest(identities) intersect select unnest(known));
  end if;
end $$;

-- Commits a page: counts it, fences it by lease and checkpoint, moves the checkpoint and stores it, all or nothing.
-- Nothing is stored of an answer that tells of a failure, has no list, brings nothing new behind the last record, or is
-- empty in a frame that is neither known for empty answers nor the one that the worker believes (`believes`).
-- continues: its first record is the last one stored, where that was asked for again (skip_first = 1);
-- fits: list and total are where they were on the pages before; digest: equal for pages with equal records in equal order;
-- tried: it is a page, so that only the fence can have kept it out.
-- A procedure, because a call is not planned either, and planning copies the page; kept plans, because planning such
-- statements anew for each page takes longer than executing them for a small one.
create procedure daywalk.store_page(
  target bigint, lease uuid, ttl_ms double precision, walk bigint, at_start bigint, at_page integer, skip_first integer,
  list_at text[], total_at text[], relation_at text[], believes text, http_status integer, asked_length integer, took_ms integer,
  took_requests integer, received_bytes integer, received_sha256 bytea, kept_bytes bytea, changed jsonb, content jsonb,
  out came integer, out list_type text, out total bigint, out relation text, out total_missing boolean, out fault text,
  out more boolean, out signature text, out wordless boolean, out frame_known boolean, out continues boolean, out fits boolean,
  out digest text, out tried boolean, out stored boolean)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  hashes bigint[];
  identities bigint[];
  of_stream integer;
  its_day date;
  its_ignored text[];
  its_id_path text[];
begin
  select w.stream_id, k.day, k.ignored, k.id_path,
         k.records_path is null or (k.records_path = list_at and k.total_path is not distinct from total_at)
    into of_stream, its_day, its_ignored, its_id_path, fits
    from daywalk.walks k
    join daywalk.windows w on w.window_id = k.window_id
   where k.walk_id = walk;
  -- After a failover to a standby that never had it the walk is gone, and the lease with it.
  fits := coalesce(fits, true);
  select f.came, f.list_type, f.total, f.relation, f.fault, f.more, f.signature, f.wordless, f.frame_known, f.hashes, f.id_hashes
    into came, list_type, total, relation, fault, more, signature, wordless, frame_known, hashes, identities
    from daywalk.read_page(of_stream, content, http_status, list_at, total_at, relation_at, coalesce(its_ignored, '{}'), its_id_path) as f;
  digest := hash_array_extended(hashes, 0);
  continues := its_day is null or skip_first = 0 or hashes[1] is not distinct from
    (select p.record_hashes[cardinality(p.record_hashes)]
       from daywalk.pages p
      where p.walk_id = walk and p.day = its_day and p.records > 0 and p.page_no < at_page
      order by p.page_no desc limit 1);
  total_missing := came > 0 and total is null and daywalk.tells_total(of_stream, total_at, at_start - skip_first);
  stored := false;
  tried := fault is null and fits and continues
           and ((came > skip_first and http_status = 200) or (came = 0 and skip_first = 0 and (frame_known or signature = believes)));
  tried := coalesce(tried, false);
  if not tried or its_day is null then return; end if;

  update daywalk.windows w
     set lease_expires = clock_timestamp() + make_interval(secs => ttl_ms / 1000), attempts = 0
   where w.window_id = target and w.lease_id = lease and w.current_walk = walk
     and exists (select from daywalk.walks k where k.walk_id = walk and k.next_start = at_start and k.pages = at_page);
  if not found then return; end if;
  update daywalk.walks k
     set next_start = k.next_start + came - skip_first,
         pages = k.pages + 1,
         bytes = k.bytes + received_bytes,
         requests = k.requests + took_requests,
         first_total = case when k.pages = 0 then store_page.total else k.first_total end,
         last_total = store_page.total,
         records_path = list_at, total_path = total_at, relation_path = relation_at
   where k.walk_id = walk and k.window_id = target and k.outcome is null
     and k.next_start = at_start and k.pages = at_page
     and (k.records_path is null or k.records_path = list_at);
  if not found then return; end if;
  insert into daywalk.pages (walk_id, page_no, day, start, length, skip, records, total, relation, total_missing, more, body,
                             bytes, changes, record_hashes, id_hashes, sha256, byte_count, fetched_at, duration_ms)
  values (walk, at_page, its_day, at_start - skip_first, asked_length, skip_first, came - skip_first, store_page.total,
          store_page.relation, store_page.total_missing, store_page.more, content, kept_bytes, changed, hashes[skip_first + 1 :],
          identities[skip_first + 1 :], received_sha256, received_bytes, clock_timestamp(), took_ms);
  stored := true;
end $$;
