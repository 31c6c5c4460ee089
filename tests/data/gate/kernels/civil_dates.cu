// Seconds since 1970 to date (year, month, day as one decimal number) and weekday (0 is Sunday) in a time zone.
// cupilot: tune
// cupilot: workload stamps grid=(16) block=(128) count=2000 zone=3600 seconds=integers(-62135596800,253402300799)[count] date=[count] weekday=[count]
__global__ void civil_dates(const long long* seconds, int* date, unsigned char* weekday, int count, int zone) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long t = seconds[i] + zone;
  long long days = t / 86400;
  if (t % 86400 < 0) --days;
  const long long z = days + 719468;
  const long long era = (z >= 0 ? z : z - 146096) / 146097;
  const int doe = (int)(z - era * 146097);
  const int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int mp = (5 * doy + 2) / 153;
  const int day = doy - (153 * mp + 2) / 5 + 1;
  const int month = mp < 10 ? mp + 3 : mp - 9;
  const int year = (int)(era * 400) + yoe + (month <= 2);
  date[i] = year * 10000 + month * 100 + day;
  const int w = (int)((days + 4) % 7);
  weekday[i] = (unsigned char)(w < 0 ? w + 7 : w);
}
