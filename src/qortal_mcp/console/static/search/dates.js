// Numbers and dates as people write them.

// Digits in groups of three, as people and pages write them.
const SEPARATED = /^[0-9]{1,3}(?:[ ,.'’_\u00a0\u2009\u202f][0-9]{3})+$/;
const DATE =
  /^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ]+([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?))?\s*(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$/i;
const DAY_FIRST = /^([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?([0-9]{4})$/;
const MONTH_NAMED =
  /^(?=.*\b[0-9]{4}\b)(?=.*[0-9])[0-9,.\s]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[0-9,.\s:]*$/i;
const FIRST_SECONDS = 1_000_000_000;
const FIRST_MILLISECONDS = 1_000_000_000_000;

/**
 * A whole number without its separators; null if it is none.
 * @param {string} text
 */
export function wholeNumber(text) {
  const plain = text.replace(/^#/, '');
  const digits = SEPARATED.test(plain) ? plain.replace(/[^0-9]/g, '') : plain;
  return /^[0-9]{1,15}$/.test(digits) ? Number(digits) : null;
}

/** @typedef {{time: string, isDay: boolean}} Moment a point in time, or the day that begins then */

/**
 * What a date names; without a time zone it is in UTC. Null if it is none.
 * @param {string} text
 * @returns {Moment | null}
 */
export function momentOf(text) {
  const number = wholeNumber(text);
  if (number !== null)
    return number < FIRST_SECONDS ? null : at(number < FIRST_MILLISECONDS ? number * 1000 : number, false);
  const day = DAY_FIRST.exec(text);
  const date = DATE.exec(day ? `${day[3]}-${day[2]}-${day[1]}` : text);
  if (date) {
    const [, year, month = '', dayOfMonth = '', clock, zone = 'Z'] = date;
    const padded = `${year}-${month.padStart(2, '0')}-${dayOfMonth.padStart(2, '0')}T${(clock ?? '00:00').padStart(5, '0')}`;
    return at(Date.parse(padded + (/^(z|utc)$/i.test(zone) ? 'Z' : zone)), clock === undefined);
  }
  return MONTH_NAMED.test(text) ? at(Date.parse(`${text} UTC`), !text.includes(':')) : null;
}

/** @param {number} time @param {boolean} isDay @returns {Moment | null} */
function at(time, isDay) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : { time: date.toISOString(), isDay };
}
