"""Arrays in, arrays out: statistics that know no record, all concepts at once by sparse algebra."""
