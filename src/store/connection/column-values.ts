/** What a column of Postgres is here: numbers, instants, and text where another type would change it. */
import pg from 'pg';

const int8 = 20;
/** Counts come as numbers, instants as Date, and `date` and `timestamp` as the text that Postgres sends. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === int8) return Number;
    if (oid === pg.types.builtins.DATE || oid === pg.types.builtins.TIMESTAMP)
      return (text: string) => text;
    return pg.types.getTypeParser(oid, format);
  },
};
