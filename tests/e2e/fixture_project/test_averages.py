from averages import mean, median


def test_mean_of_three_values():
    assert mean([1.0, 2.0, 6.0]) == 3.0


def test_median_of_an_even_number_of_values():
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
