ABSOLUTE_ZERO = -273.15


def main(given):
    readings = given["readings"]
    if given["unit"] == "fahrenheit":
        readings = [(reading - 32) * 5 / 9 for reading in readings]
    possible = [reading for reading in readings if reading >= ABSOLUTE_ZERO]
    # What is printed is kept as a log; only what is returned is the result.
    print(f"{len(possible)} of {len(readings)} readings are possible")
    if not possible:
        raise ValueError("none of the readings is above absolute zero")
    return {
        "lowest": round(min(possible), 2),
        "highest": round(max(possible), 2),
        "mean": round(sum(possible) / len(possible), 2),
        "readings": len(possible),
        "leftOut": len(readings) - len(possible),
    }
